// @svc/sdk-browser/handlers: handlers to publish as they are, and handlers around handlers.

export { type AllowRule, allow } from './allow.ts'
export { type AuthOptions, basicAuth, bearer, type VerifyPassword, type VerifyToken } from './auth.ts'
export { type Bundle, type BundledFile, bundled } from './bundled.ts'
export { withCookies } from './cookies.ts'
export { asCurl } from './curl.ts'
export type { Entry } from './entry.ts'
export type { FileSource } from './file-tree.ts'
export { type FilesOptions, files } from './files.ts'
export { type InspectOptions, type Inspector, inspect } from './inspect.ts'
export { type ProxyOptions, proxy } from './proxy.ts'
