// Strict HTTP/1.1 servers on node:http, and what clients read of an answer.

export { REQUEST_FIELDS_MAX, REQUEST_HEAD_MAX_BYTES } from './limits.ts'
export { lingeringEnd } from './lingering-end.ts'
export { retryAfterOf } from './retry-after.ts'
export { type MalformedRequest, type StrictOptions, StrictRequests } from './strict-requests.ts'
