// Strict HTTP/1.1 servers on node:http.

export { REQUEST_FIELDS_MAX, REQUEST_HEAD_MAX_BYTES } from './limits.ts'
export { lingeringEnd } from './lingering-end.ts'
export { type MalformedRequest, type StrictOptions, StrictRequests } from './strict-requests.ts'
