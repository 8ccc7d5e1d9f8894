// Makes traffic rules of the flags of the command line.

import { SvcError, type TrafficRules } from '@svc/sdk-core'
import type { SiteOptions } from '../options/parsed-command.ts'

type Flags = Pick<SiteOptions, 'rules' | 'header' | 'requestHeader' | 'cors' | 'maintenance'>

/** @returns the rules of svc.toml, or those of the command line; undefined when there are none */
export function rulesOf({
  rules,
  header,
  requestHeader,
  cors,
  maintenance,
}: Flags): TrafficRules | undefined {
  const given: TrafficRules = {
    ...rules,
    ...(maintenance && { maintenance }),
    ...(cors.length > 0 && { cors: { origins: cors } }),
    ...(requestHeader.length > 0 && {
      requestHeaders: requestHeader.map((text) => edit('--request-header', text)),
    }),
    ...(header.length > 0 && { responseHeaders: header.map((text) => edit('--header', text)) }),
  }
  return Object.keys(given).length > 0 ? given : undefined
}

/** @returns whether a path may have another answer than its file */
export function answersByPath({ maintenance, redirects, rewrites, mocks }: TrafficRules = {}): boolean {
  return [maintenance, redirects, rewrites, mocks].flat().some((rule) => typeof rule === 'object')
}

function edit(flag: string, text: string): { set: Record<string, string> } | { remove: string[] } {
  const [, name = '', value = ''] = /^([^:]*):(.*)$/s.exec(text) ?? []
  if (name.trim() === '')
    throw new SvcError('invalid_option', `${flag} ${JSON.stringify(text)} is not "Name: value" or "Name:"`)
  return value.trim() === '' ? { remove: [name.trim()] } : { set: { [name.trim()]: value.trim() } }
}
