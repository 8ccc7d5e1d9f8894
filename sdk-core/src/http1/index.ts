// What a client of HTTP/1.1 shares with the server: how messages are read.

export { HttpError } from '../semantics/http-error.ts'
export { HEAD_BYTES } from '../semantics/limits.ts'
export { type BodyDecoder, type ByteSource, ChunkedDecoder, ContentLengthDecoder } from './body-decoder.ts'
export { LineBuffer } from './line-buffer.ts'
export { parseField } from './request-parser.ts'
