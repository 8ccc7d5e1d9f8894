// The options of a session, with their defaults.

import {
  ACCEPT_BACKLOG_DEFAULT,
  CLOSE_TIMEOUT_DEFAULT_MS,
  GROWN_WINDOW_DEFAULT_BYTES,
  INITIAL_WINDOW_BYTES,
  KEEPALIVE_INTERVAL_DEFAULT_MS,
  OPEN_TIMEOUT_DEFAULT_MS,
  PING_TIMEOUT_DEFAULT_MS,
  STREAM_ID_MAX,
  STREAMS_DEFAULT_MAX,
  TIMER_MAX_MS,
  WINDOW_BUDGET_DEFAULT_BYTES,
  WINDOW_MAX_BYTES,
} from './limits.ts'
import type { MemoryMeter } from './session-owner.ts'
import type { Stream } from './stream.ts'

/** SessionOptions are the options of a {@link Session}. */
export interface SessionOptions {
  /** The side of the session: the client opens odd stream ids, the server even ones. */
  role: 'client' | 'server'
  /** Called with each stream that the peer opens. Without it, the session refuses them. */
  onStream?: ((stream: Stream) => void) | undefined
  /**
   * The milliseconds between pings. 0 turns them off.
   * @default 30,000
   */
  keepAliveIntervalMs?: number | undefined
  /**
   * The milliseconds after which an unanswered ping ends the session.
   * @default 10,000
   */
  pingTimeoutMs?: number | undefined
  /**
   * The receive window of a new stream in bytes, 256 KiB or more.
   * @default 256 KiB
   */
  windowBytes?: number | undefined
  /**
   * The bytes to which a stream's receive window may grow with bandwidth and delay.
   * @default 4 MiB
   */
  maxWindowBytes?: number | undefined
  /**
   * The bytes by which all streams together may grow beyond `windowBytes`; 0 turns growth off.
   * @default 16 MiB
   */
  windowBudgetBytes?: number | undefined
  /**
   * The most unacknowledged streams, in each direction. Beyond it, {@link Session.open} waits, and the session resets the
   * peer's.
   * @default 256
   */
  acceptBacklog?: number | undefined
  /**
   * The most concurrent streams, in both directions.
   * @default 1,024
   */
  maxStreams?: number | undefined
  /**
   * The milliseconds after which the session resets a stream that the peer did not acknowledge. 0 turns it off.
   * @default 75,000
   */
  openTimeoutMs?: number | undefined
  /**
   * The milliseconds of silence after which the session resets a stream that this side ended. 0 turns it off.
   * @default 300,000
   */
  closeTimeoutMs?: number | undefined
  /**
   * The bytes given to {@link Session.receive} are valid only until it returns. The session then copies what it keeps.
   * @default false
   */
  sharedInput?: boolean | undefined
  /**
   * A meter of the memory that the session takes.
   * @default none
   */
  memory?: MemoryMeter | undefined
  /**
   * The last stream id that {@link Session.open} uses. A lower one retires a session earlier.
   * @default 4,294,967,295
   */
  maxStreamId?: number | undefined
}

type NumberOption = Exclude<keyof SessionOptions, 'role' | 'onStream' | 'sharedInput' | 'memory'>
export type Settings = Readonly<Record<NumberOption, number>>

/** Maps each name to its default, minimum and maximum. */
const RANGE: Record<NumberOption, readonly [number, number, number]> = {
  keepAliveIntervalMs: [KEEPALIVE_INTERVAL_DEFAULT_MS, 0, TIMER_MAX_MS],
  pingTimeoutMs: [PING_TIMEOUT_DEFAULT_MS, 1, TIMER_MAX_MS],
  windowBytes: [INITIAL_WINDOW_BYTES, INITIAL_WINDOW_BYTES, WINDOW_MAX_BYTES],
  maxWindowBytes: [GROWN_WINDOW_DEFAULT_BYTES, INITIAL_WINDOW_BYTES, WINDOW_MAX_BYTES],
  windowBudgetBytes: [WINDOW_BUDGET_DEFAULT_BYTES, 0, Number.MAX_SAFE_INTEGER],
  acceptBacklog: [ACCEPT_BACKLOG_DEFAULT, 1, STREAM_ID_MAX],
  maxStreams: [STREAMS_DEFAULT_MAX, 1, STREAM_ID_MAX],
  openTimeoutMs: [OPEN_TIMEOUT_DEFAULT_MS, 0, TIMER_MAX_MS],
  closeTimeoutMs: [CLOSE_TIMEOUT_DEFAULT_MS, 0, TIMER_MAX_MS],
  maxStreamId: [STREAM_ID_MAX, 0, STREAM_ID_MAX],
}

/**
 * Checks the options and fills in defaults.
 * @throws RangeError for a number outside its range
 */
export function settingsOf(options: SessionOptions): Settings {
  const settings = {} as Record<NumberOption, number>
  for (const name of Object.keys(RANGE) as NumberOption[]) {
    const [fallback, least, most] = RANGE[name]
    const value = options[name] ?? fallback
    if (!Number.isInteger(value) || value < least || value > most)
      throw new RangeError(`${name} is ${value}; an integer from ${least} to ${most} is needed`)
    settings[name] = value
  }
  return settings
}
