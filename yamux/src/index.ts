// @svc/yamux: stream multiplexing over any byte or message transport, wire-compatible with hashicorp's yamux.
export { YamuxError, type YamuxErrorCode } from './errors.ts'
export type { SessionOptions } from './options.ts'
export type { ByteSink } from './receive-buffer.ts'
export { Session } from './session.ts'
export type { MemoryMeter, Transport } from './session-owner.ts'
export type { Stream } from './stream.ts'
export { readableOf, writableOf } from './web-streams.ts'
