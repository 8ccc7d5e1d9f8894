// Chooses the origin that the target sees: the visitor's or, if the target refuses that, its own.

import { type Field, type OriginView, SvcError } from '@svc/sdk-core'

/**
 * The `Host` of requests to a target: the visitor's (`preserve`), the target's own (`rewrite`), or this host, such as `app.test:8080`.
 * @see ExposeOptions.host
 */
export type HostHeader = 'preserve' | 'rewrite' | (string & {})

/** TargetView is an origin view with the forwarding settings. */
export interface TargetView extends OriginView {
  /** The `Host` of requests to the target. */
  readonly host: string
  /** Whether the target gets the visited host in `X-Forwarded-Host` and the like. False when it must see another origin. */
  readonly isForwarded: boolean
}

/** A request whose answer may reveal which origin the target accepts. */
interface Asked {
  readonly url: URL
  readonly method: string
  readonly fields: Iterable<Field>
  /** True for a WebSocket handshake. */
  readonly isHandshake?: boolean
}

interface Answer {
  readonly status: number
}

interface TargetOriginOptions {
  /** The address of the target. */
  address: URL
  host: HostHeader | undefined
  /** Requests `/` from the target without credentials. Resolves with the status. */
  look(view: TargetView): Promise<number>
  /** Called when the target refuses the visited host: everywhere, so that it now gets its own, or at some paths with 421. */
  onRefused(error: SvcError): void
}

/** Bad Request, Forbidden and Misdirected Request: the answers to a host that a server does not know. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 421])
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

const MISDIRECTED_REQUEST = 421

/** From this status on, an answer says nothing about the origin, because another check may precede that of the origin. */
const CLIENT_ERROR = 400
/** The most remembered paths; the oldest is forgotten. */
const TAKEN_PATHS_MAX = 256

type Mode = 'preserve' | 'plain' | 'own origin' | 'rewrite'

export class TargetOrigin {
  readonly #options: TargetOriginOptions
  readonly #hostname: string | undefined
  #mode: Mode
  /** True while it is unknown whether the target refuses the visited host. */
  #isHostOpen: boolean
  /** True while the target may compare `Origin` with the visited one, or with one of its own scheme. */
  #isOriginOpen: boolean
  /** Paths at which it accepted the visited origin: a refusal there has another reason. */
  readonly #taken = new Set<string>()
  #looking: Promise<void> | undefined
  #isSuggested = false
  #last: TargetView | undefined

  /** @throws SvcError `invalid_option` when `host` is not a host */
  constructor(options: TargetOriginOptions) {
    const { host } = options
    this.#options = options
    const isPreserved = host === undefined || host === 'preserve'
    this.#hostname = isPreserved || host === 'rewrite' ? undefined : parseHost(host)
    this.#mode = isPreserved ? 'preserve' : 'rewrite'
    this.#isHostOpen = host === undefined
    this.#isOriginOpen = isPreserved && isPlain(options.address)
  }

  /** Returns whether the answer may change the target's view, so that the request may have to be repeated. */
  mayAskAgain(asked: Asked): boolean {
    return this.#isHostOpen || this.#mayTryOrigins(asked)
  }

  #mayTryOrigins(asked: Asked): boolean {
    return this.#isOriginOpen && !this.#taken.has(asked.url.pathname) && hasOwnOrigin(asked)
  }

  /** Forgets what was learned, because another server may now answer at this address. */
  forget(): void {
    const { host } = this.#options
    if (host !== undefined && host !== 'preserve') return
    this.#become('preserve')
    this.#isHostOpen = host === undefined
    this.#isOriginOpen = isPlain(this.#options.address)
    this.#isSuggested = false
    this.#taken.clear()
  }

  /** Returns the current view for requests to the target. */
  view(visited: URL): TargetView {
    if (this.#last?.visited.host !== visited.host) this.#last = this.#viewOf(this.#mode, visited)
    return this.#last
  }

  /**
   * Sends the request, and repeats it once if the answer refuses the host or the origin.
   * @param ask resolves with the answer, or returns undefined when the request cannot be repeated
   * @param drop called with an answer that a better one replaces
   */
  async answer<A extends Answer>(
    asked: Asked,
    ask: (view: TargetView) => Promise<A> | undefined,
    drop: (answer: A) => void,
  ): Promise<A> {
    const answer = await this.#answer(asked, ask, drop)
    if (answer.status === MISDIRECTED_REQUEST) this.#suggestRewrite(asked.url)
    return answer
  }

  async #answer<A extends Answer>(
    asked: Asked,
    ask: (view: TargetView) => Promise<A> | undefined,
    drop: (answer: A) => void,
  ): Promise<A> {
    const { visited } = this.view(asked.url)
    const mode = this.#mode
    const first = await ask(this.view(visited))!
    if (!this.mayAskAgain(asked) && this.#mode === mode) return first
    if (!isOriginRefused(first, asked) && !REFUSALS.has(first.status)) {
      if (this.#mayTryOrigins(asked) && (!SAFE.has(asked.method) || asked.isHandshake))
        this.#took(asked, first)
      return first
    }
    const again = async (other: Mode): Promise<A | undefined> => {
      const better = await ask(this.#viewOf(other, visited))?.catch(() => undefined)
      if (!better) return undefined
      const isBetter = !isOriginRefused(better, asked) && !REFUSALS.has(better.status)
      drop(isBetter ? first : better)
      return isBetter ? better : undefined
    }
    if (this.#isHostOpen && REFUSALS.has(first.status)) {
      this.#looking ??= this.#lookAtHost(visited)
      await this.#looking
    }
    if (this.#mode !== mode) return (await again(this.#mode)) ?? first
    if (!this.#mayTryOrigins(asked) || !isOriginRefused(first, asked)) return first
    return (await this.#tryOrigins(asked, again, drop)) ?? first
  }

  /**
   * Suggests `rewrite` when the target refuses the host only at this path: the visitor chose the path, so the owner must decide.
   */
  #suggestRewrite(visited: URL): void {
    const { address, onRefused } = this.#options
    if (this.#isSuggested || this.#mode === 'rewrite') return
    this.#isSuggested = true
    const message = `${address.host} answers 421 to the host ${visited.host}: host: rewrite (--host-header rewrite) gives it its own`
    onRefused(new SvcError('host_refused', message))
  }

  /** Probes `/`: a target that refuses the visited host there but not its own refuses the host. Visitors cannot influence the probe. */
  async #lookAtHost(visited: URL): Promise<void> {
    const { look } = this.#options
    try {
      const preserved = await look(this.#viewOf('preserve', visited))
      const own = REFUSALS.has(preserved) ? await look(this.#viewOf('rewrite', visited)) : preserved
      this.#isHostOpen = false
      if (!REFUSALS.has(own) && own < 500 && REFUSALS.has(preserved)) this.#rewrite(visited)
    } catch {
      // The target is unreachable: the next refusal triggers another probe.
    } finally {
      this.#looking = undefined
    }
  }

  /**
   * Most servers do not know that visitors use HTTPS; some know only their own name. A refusal may have another reason, and a
   * visitor may provoke one, so the scheme is tried again at each refusal, and a name needs two.
   */
  async #tryOrigins<A>(
    { url, method }: Asked,
    again: (mode: Mode) => Promise<A | undefined>,
    drop: (answer: A) => void,
  ): Promise<A | undefined> {
    const mode = this.#mode
    const other = mode === 'plain' ? 'preserve' : 'plain'
    const better = await again(other)
    if (better) {
      this.#taken.clear()
      this.#become(other)
      return better
    }
    const own = SAFE.has(method) ? await again('own origin') : undefined
    if (!own) return undefined
    const taken = await again(mode)
    if (!taken) this.#rewrite(url)
    else drop(own)
    return taken ?? own
  }

  /** Notes that a path accepts the origin. A server may check it at other paths, so this applies only to the path. */
  #took({ url }: Asked, { status }: Answer): void {
    if (status >= CLIENT_ERROR) return
    if (this.#taken.size === TAKEN_PATHS_MAX) this.#taken.delete(this.#taken.values().next().value!)
    this.#taken.add(url.pathname)
  }

  #rewrite(visited: URL): void {
    const { address, onRefused, host } = this.#options
    this.#isOriginOpen = false
    // With an explicit `preserve`, the host is kept and only the origin becomes the target's.
    this.#become(host === undefined ? 'rewrite' : 'own origin')
    if (host !== undefined) return
    const message = `${address.host} refuses the host ${visited.host}: it gets its own in place of that from now on (host: rewrite)`
    onRefused(new SvcError('host_refused', message))
  }

  #become(mode: Mode): void {
    this.#mode = mode
    this.#last = undefined
  }

  #viewOf(mode: Mode, visited: URL): TargetView {
    const { address } = this.#options
    const { protocol } = address
    if (mode === 'preserve')
      return { visited, address, believed: visited, host: visited.host, isForwarded: true }
    if (mode === 'plain')
      return {
        visited,
        address,
        believed: new URL(`${protocol}//${visited.host}`),
        host: visited.host,
        isForwarded: true,
      }
    const host = this.#hostname ?? address.host
    const believed = new URL(`${protocol}//${host}`)
    return mode === 'rewrite'
      ? { visited, address, believed, host, isForwarded: false }
      : { visited, address, believed, host: visited.host, isForwarded: true }
  }
}

/** Returns whether the origin was refused: with Forbidden, or Unauthorized by the package ws. */
function isOriginRefused({ status }: Answer, { isHandshake = false }: Asked): boolean {
  return status === 403 || (status === 401 && isHandshake)
}

/** Returns whether a page of the site itself sent the request. */
function hasOwnOrigin({ url, fields }: Asked): boolean {
  for (const [name, value] of fields) if (name.toLowerCase() === 'origin') return value === url.origin
  return false
}

/** Returns whether the target is reached without TLS. One behind TLS expects `https:` origins. */
function isPlain({ protocol }: URL): boolean {
  return protocol === 'http:'
}

function parseHost(host: string): string {
  const url = URL.parse(`http://${host}`)
  const isHost =
    url !== null &&
    url.pathname + url.search + url.hash === '/' &&
    url.username === '' &&
    !/[\s/@]/.test(host)
  if (isHost) return host
  throw new SvcError(
    'invalid_option',
    `host ${JSON.stringify(host)} is not preserve, rewrite, or a host such as app.test:8080`,
  )
}
