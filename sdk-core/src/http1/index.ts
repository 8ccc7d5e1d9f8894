// The parts of HTTP/1.1 that a client shares with the server: reading messages.

export { HttpError } from '../semantics/http-error.ts'
export { HEAD_BYTES } from '../semantics/limits.ts'
export { type BodyDecoder, type ByteSource, ChunkedDecoder, ContentLengthDecoder } from './body-decoder.ts'
export { LineBuffer } from './line-buffer.ts'
export { parseField } from './request-parser.ts'
