// Share links: each has a secret in its fragment, which browsers send to nobody, and which the page of the sign-in exchanges for a session.

import { hexOf } from '../bytes/hex.ts'
import { SvcError } from '../errors.ts'
import { SHARES_MAX } from './limits.ts'
import { base64url } from './password-hash.ts'
import { parseEnd } from './times.ts'

/** ShareOptions say for whom a share link is. */
export interface ShareOptions {
  /**
   * The link signs in once. Its session goes on until it ends by itself.
   * @default false
   */
  once?: boolean | undefined
  /**
   * When the link ends, and the sessions that came by it: a time from now such as `2h`, a Date, or the text of one (ISO 8601).
   * @default never
   */
  until?: string | Date | undefined
  /**
   * What the owner wants to read in the list, such as for whom it is. Visitors do not see it.
   * @default empty
   */
  note?: string | undefined
  /**
   * The path, with its query, of the page at which the visitor arrives. The link is for the whole site nevertheless.
   * @default '/'
   */
  path?: string | undefined
}

/** A ShareLink is a share link without its secret, which the site does not know. */
export interface ShareLink {
  readonly id: string
  readonly note: string
  readonly once: boolean
  /** When it ends. Undefined for never. */
  readonly until: Date | undefined
  readonly createdAt: Date
  /** How often somebody signed in with it. */
  readonly uses: number
}

/** Sharing is what a site with the option `access` can do besides. */
export interface Sharing {
  /** The share links that were not withdrawn, in the order in which they were made. */
  readonly shares: readonly ShareLink[]
  /**
   * Makes a share link, which lets in whoever has it. The URL has the secret, and cannot be had again.
   * @throws SvcError `invalid_option`
   */
  share(options?: ShareOptions): Promise<{ url: string; id: string }>
  /**
   * Withdraws a share link, and ends the sessions that came by it.
   * @returns whether there was one
   */
  unshare(id: string): boolean
}

/** The field of the fragment with the secret. */
export const SHARE_FIELD = 'svc-share'
const SECRET_BYTES = 32
const ID_BYTES = 4
const NOTE_MAX_CHARS = 200

const encoder = new TextEncoder()

/** ShareLinks knows the share links of a site by the hashes of their secrets. */
export class ShareLinks {
  readonly #links = new Map<string, ShareLink>()
  /** The ids of links that still sign in, by hash. A hash tells by no time of a comparison how much of a guess was right. */
  readonly #idByHash = new Map<string, string>()

  get list(): ShareLink[] {
    this.#removeEnded()
    return [...this.#links.values()]
  }

  /** @throws SvcError `invalid_option` */
  async add({ once = false, until, note = '' }: ShareOptions): Promise<{ id: string; secret: string }> {
    const end = until === undefined ? undefined : parseEnd(until)
    if (until !== undefined && !(end !== undefined && end > Date.now()))
      throw wrong('until must be a time to come: such as 2h, or a date')
    if (note.length > NOTE_MAX_CHARS) throw wrong(`note has at most ${NOTE_MAX_CHARS} characters`)
    this.#removeEnded()
    if (this.#links.size >= SHARES_MAX)
      throw wrong(`a site has at most ${SHARES_MAX} share links: withdraw some`)
    const id = hexOf(crypto.getRandomValues(new Uint8Array(ID_BYTES)))
    const secret = base64url(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))
    const link = {
      id,
      note,
      once,
      until: end === undefined ? undefined : new Date(end),
      createdAt: new Date(),
      uses: 0,
    }
    this.#links.set(id, link)
    this.#idByHash.set(await hashOf(secret), id)
    return { id, secret }
  }

  /** Resolves with the id of the link that a secret opens, and counts the use. */
  async use(secret: string): Promise<string | undefined> {
    const hash = await hashOf(secret)
    // From here on nothing waits, so that a link for one sign-in is used once.
    const id = this.#idByHash.get(hash)
    const link = id === undefined ? undefined : this.#links.get(id)
    if (id === undefined || !link || Date.now() >= endOf(link)) return undefined
    if (link.once) this.#idByHash.delete(hash)
    this.#links.set(id, { ...link, uses: link.uses + 1 })
    return id
  }

  /** Returns when the sessions of a link end, in milliseconds since the epoch; 0 when it was withdrawn. */
  endOf(id: string): number {
    const link = this.#links.get(id)
    return link ? endOf(link) : 0
  }

  remove(id: string): boolean {
    for (const [hash, its] of this.#idByHash) if (its === id) this.#idByHash.delete(hash)
    return this.#links.delete(id)
  }

  #removeEnded(): void {
    for (const link of this.#links.values()) if (Date.now() >= endOf(link)) this.remove(link.id)
  }
}

function endOf({ until }: ShareLink): number {
  return until?.getTime() ?? Number.POSITIVE_INFINITY
}

async function hashOf(secret: string): Promise<string> {
  return hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(secret))))
}

function wrong(message: string): SvcError {
  return new SvcError('invalid_option', message)
}
