// Every limit of HTTP/2 beside those that all versions share, each with its unit and the reason for its value.

/** Payload of a frame, either way: what everybody takes (RFC 9113 §4.2), and a TLS record's worth. */
export const FRAME_BYTES: number = 16 * 1024
/** Requests at a time on one connection: RFC 9113 §6.5.2 asks for at least 100, browsers use no more. */
export const STREAMS_MAX = 128
/** Body that waits unread on one stream: the size of a yamux window. */
export const STREAM_WINDOW_BYTES: number = 256 * 1024
/** … and on all streams of a connection: four handlers that do not read do not stop the others. */
export const CONNECTION_WINDOW_BYTES: number = 1024 * 1024
/** What the windows grow to for handlers that are faster: 20 MB/s at a round trip of 100 ms. */
export const STREAM_WINDOW_MAX_BYTES: number = 2 * 1024 * 1024
export const CONNECTION_WINDOW_MAX_BYTES: number = 4 * 1024 * 1024
/** CONTINUATION frames of one header block (CVE-2024-27316): at their usual size four make the largest. */
export const CONTINUATIONS_MAX = 32

/** Streams that may end before their response did, at once … (CVE-2023-44487, CVE-2025-8671): two pages full of images. */
export const RESETS_BURST = 256
/** … and by the second. A response that was sent whole makes up for one, too. */
export const RESETS_PER_SECOND = 16
/** Frames that further nothing, at once: PING, SETTINGS, PRIORITY, empty DATA, … (CVE-2019-9511 to 9518). */
export const IDLE_FRAMES_BURST = 1024
/** … and by the second. Clients that follow each frame of ours with two WINDOW_UPDATEs stay far below. */
export const IDLE_FRAMES_PER_SECOND = 128
/** What a DATA frame or a response of ours makes up for: its WINDOW_UPDATEs, PRIORITYs and the like. */
export const IDLE_FRAMES_PER_WORK = 4
/** A DATA frame that the visitor's window made shorter than this makes up for nothing. */
export const WORK_MIN_BYTES = 256
/** Frames of ours, other than DATA, that wait to be written before reading pauses. */
export const CONTROL_WAITING_MAX_BYTES: number = 64 * 1024
/** Streams that are over and still known by their number, so that late frames are told from wrong ones. */
export const CLOSED_STREAMS_KNOWN = 256
