// Every limit of a visitor's WebSocket, each with its unit and the reason for its value.

/** A message, all fragments together, unless the handler chooses another limit: what a chat or a photo needs. */
export const MESSAGE_MAX_BYTES: number = 16 * 1024 * 1024
/** Payload of a control frame (RFC 6455 §5.5). */
export const CONTROL_MAX_BYTES = 125
/** Reason in a Close frame: a control frame's payload without the status code. */
export const REASON_MAX_BYTES = 123
/** What may wait to be sent when `send` is called. One message may be larger; a visitor that reads nothing is dropped. */
export const BUFFERED_MAX_BYTES: number = 16 * 1024 * 1024
/** Bytes given to the stream in one write, so that back-pressure and `bufferedAmount` see progress. */
export const WRITE_BYTES: number = 64 * 1024
/** The shortest text that is compressed: below it little is gained, and a packet is sent in any case. */
export const DEFLATE_MIN_BYTES = 1024
/** The longest text that is compressed, for some 10 ms at a time: longer ones would hold the page up. */
export const DEFLATE_MAX_BYTES: number = 1024 * 1024
/** The least that is allocated for a message whose length is not known yet. */
export const STORE_MIN_BYTES = 4096

/** Silence after which the visitor is pinged: below the minute at which proxies and NATs forget a connection. */
export const SILENCE_MS = 30_000
/** A ping that nothing follows for this long: the visitor is gone. */
export const PONG_MS = 20_000
/** From our Close frame to the visitor's, and for the last frame to a visitor that broke the rules. */
export const CLOSE_MS = 5_000
