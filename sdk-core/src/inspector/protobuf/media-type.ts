// Which contents are protobuf, and what they say of their message.

import { type Content, fieldOf, typeOf } from '../entry.ts'

const PROTOBUF = /^application\/(?:(?:x-|vnd\.google\.|x-google-)?protobuf|proto|[\w.-]+\+proto(?:buf)?)$/
const GRPC = /^application\/grpc\b/
/** As Prometheus, Charles and others write it. */
const NAMED = /;\s*(?:proto|messagetype)\s*=\s*"?([\w.]{1,255})/i
/** The last two parts of a path: gRPC, Connect and Twirp have the method there. */
const METHOD = /\/([\w.]{1,255})\/(\w{1,255})$/

/** A Method is the method of a service, as a path has it. */
export interface Method {
  service: string
  name: string
}

/** @returns whether all of the content is one message */
export function isProtobuf(content: Pick<Content, 'headers'>): boolean {
  const type = typeOf(content)
  return PROTOBUF.test(type) && !GRPC.test(type)
}

/** @returns the name of the message's type, when a field has it */
export function namedType(content: Pick<Content, 'headers'>): string | undefined {
  return NAMED.exec(fieldOf(content, 'content-type') ?? '')?.[1] ?? fieldOf(content, 'x-protobuf-message')
}

/** @returns undefined for a path that cannot be that of a method */
export function methodOf(url: string): Method | undefined {
  const [, service, name] = METHOD.exec(new URL(url).pathname) ?? []
  return service === undefined || name === undefined ? undefined : { service, name }
}
