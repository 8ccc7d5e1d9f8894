// The errors of the static cache: one code for the site's files, one for the relay.

import { messageOf, SvcError } from '../errors.ts'

/** The codes with which a relay refuses the manifest or the files. */
const OF_FILES: ReadonlySet<string> = new Set(['invalid_request', 'invalid_json'])

/** The codes after which a retry may succeed: the relay is busy, full, or away. */
const PASSING: ReadonlySet<string> = new Set(['relay_unreachable', 'feature_unavailable', 'rate_limited'])

/** Returns the error for files that cannot be stored: `message` names the file. */
export function invalidFiles(message: string, cause?: unknown): SvcError {
  return new SvcError('cache_files_invalid', message, { cause })
}

/** Returns the error for a site whose relay has no static cache. */
export function notOffered(): SvcError {
  return new SvcError('cache_unavailable', 'the relay has no static cache: it stores no files of the site')
}

/** Turns an error of a request to the relay, or of the work before it, into one that the site reports. */
export function asCacheError(cause: unknown): SvcError {
  if (!(cause instanceof SvcError))
    return invalidFiles(`the files cannot be read: ${messageOf(cause)}`, cause)
  const { code, message, retryAfterMs } = cause
  if (code === 'cache_files_invalid' || code === 'cache_unavailable') return cause
  if (OF_FILES.has(code)) return invalidFiles(`the relay did not take the files: ${message}`, cause)
  const text = `the relay does not store the files: ${message}`
  return new SvcError('cache_unavailable', text, { cause, retryAfterMs })
}

/** Returns whether the failure may be temporary. */
export function isPassing({ cause }: SvcError): boolean {
  return cause instanceof SvcError && PASSING.has(cause.code)
}
