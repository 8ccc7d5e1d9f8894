// Options of `publish` and `expose` in Node: refuses unknown ones, and selects those that all SDKs share.

import { type PublishOptions, SvcError } from '@svc/sdk-core'
import { noOption, PUBLISH_OPTIONS } from '@svc/sdk-core/option-names'

/**
 * @param own the names of options that a page does not have
 * @throws SvcError `invalid_option` that names the first unknown option and suggests the one that was meant
 */
export function refuseUnknown(options: object, own: readonly string[]): void {
  const known: readonly string[] = [...PUBLISH_OPTIONS, ...own]
  for (const name of Object.keys(options))
    if (!known.includes(name)) throw new SvcError('invalid_option', noOption(name, known))
}

/** Returns the options without those that a page does not have. */
export function sharedOptions(options: PublishOptions): PublishOptions {
  const shared = Object.entries(options).filter(([name]) =>
    (PUBLISH_OPTIONS as readonly string[]).includes(name),
  )
  return Object.fromEntries(shared) as unknown as PublishOptions
}
