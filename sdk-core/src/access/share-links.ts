// Share links: each has a secret in its fragment, which browsers send to nobody, and which the page of the sign-in exchanges for a session.

import { base64url } from '../bytes/base64url.ts'
import { hexOf } from '../bytes/hex.ts'
import { SvcError } from '../errors.ts'
import { SHARES_MAX } from './limits.ts'
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
  /** When somebody last signed in with it, and from which address by the relay's word. Undefined before the first. */
  readonly lastUse: ShareUse | undefined
}

/** A ShareUse is a sign-in with a share link. */
export interface ShareUse {
  readonly at: Date
  /** Undefined when unknown: it is kept in memory alone. */
  readonly address: string | undefined
}

/** A StoredShare is what has to be kept of a share link. */
export interface StoredShare extends ShareLink {
  /** The SHA-256 of its secret, in hexadecimal digits. Undefined once a link for one sign-in was used. */
  readonly hash: string | undefined
}

/** A ShareStore keeps the share links of a site for its next start. */
export interface ShareStore {
  load(): Promise<readonly StoredShare[]>
  /** Resolves when a new link is kept. */
  add(share: StoredShare): Promise<void>
  /** Resolves with whether the link may be used, and when that use is kept: another process may have withdrawn it, or used it up. */
  use(share: StoredShare): Promise<boolean>
  /** Resolves when a link is forgotten. */
  remove(id: string): Promise<void>
}

/** Sharing is what a site with the option `access` can do besides. */
export interface Sharing {
  /** The share links that were not withdrawn, in the order in which they were made. */
  readonly shares: readonly ShareLink[]
  /**
   * Makes a share link, which lets in everybody who has it. The URL contains the secret and is returned only here.
   * @throws SvcError `invalid_option`
   */
  share(options?: ShareOptions): Promise<{ url: string; id: string }>
  /**
   * Withdraws a share link, and ends the sessions that came by it.
   * @returns a promise of whether there was one
   */
  unshare(id: string): Promise<boolean>
}

/** The field of the fragment with the secret. */
export const SHARE_FIELD = 'svc-share'
const SECRET_BYTES = 32
const ID_BYTES = 4
const NOTE_MAX_CHARS = 200

const encoder = new TextEncoder()

/** ShareLinks knows the share links of a site by the hashes of their secrets. */
export class ShareLinks {
  readonly #links = new Map<string, StoredShare>()
  /** The ids of links that still sign in, by hash. A hash tells by no time of a comparison how much of a guess was right. */
  readonly #idByHash = new Map<string, string>()
  readonly #store: ShareStore | undefined

  private constructor(store: ShareStore | undefined) {
    this.#store = store
  }

  /**
   * @param store keeps the links for the next start; without one they live in memory
   * @throws the error of the store
   */
  static async open(store?: ShareStore): Promise<ShareLinks> {
    const links = new ShareLinks(store)
    for (const share of (await store?.load()) ?? []) links.#keep(share)
    return links
  }

  get list(): ShareLink[] {
    this.#removeEnded()
    return [...this.#links.values()].map(({ hash: _hash, ...link }) => link)
  }

  /** @throws SvcError `invalid_option`, or the error of the store */
  async add({ once = false, until, note = '' }: ShareOptions): Promise<{ id: string; secret: string }> {
    const end = until === undefined ? undefined : parseEnd(until)
    if (until !== undefined && !(end !== undefined && end > Date.now()))
      throw wrong('until must be a time to come: such as 2h, or a date')
    if (note.length > NOTE_MAX_CHARS) throw wrong(`note has at most ${NOTE_MAX_CHARS} characters`)
    const secret = base64url(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))
    const hash = await hashOf(secret)
    this.#removeEnded()
    if (this.#links.size >= SHARES_MAX)
      throw wrong(`a site has at most ${SHARES_MAX} share links: withdraw some`)
    const share: StoredShare = {
      id: hexOf(crypto.getRandomValues(new Uint8Array(ID_BYTES))),
      hash,
      note,
      once,
      until: end === undefined ? undefined : new Date(end),
      createdAt: new Date(),
      uses: 0,
      lastUse: undefined,
    }
    this.#keep(share)
    const { id } = share
    await this.#store?.add(share).catch((error) => {
      this.#forget(id)
      throw error
    })
    return { id, secret }
  }

  /**
   * Resolves with the id of the link that a secret opens, and counts the use.
   * @throws the error of the store
   */
  async use(secret: string, address: string | undefined): Promise<string | undefined> {
    const hash = await hashOf(secret)
    // Nothing waits until the link is marked as used, so that one for a single sign-in is used once.
    const link = this.#links.get(this.#idByHash.get(hash) ?? '')
    if (!link || Date.now() >= endOf(link)) return undefined
    const used = { ...link, uses: link.uses + 1, lastUse: { at: new Date(), address } }
    if (link.once) used.hash = undefined
    this.#keep(used)
    if (this.#store && !(await this.#store.use(used))) return undefined
    // It may have been withdrawn meanwhile.
    return this.#links.has(link.id) ? link.id : undefined
  }

  /** Returns when the sessions of a link end, in milliseconds since the epoch; 0 when it was withdrawn. */
  endOf(id: string): number {
    const link = this.#links.get(id)
    return link ? endOf(link) : 0
  }

  /**
   * Withdraws a link at once. Resolves with whether there was one, when the store has forgotten it.
   * @throws the error of the store
   */
  async remove(id: string): Promise<boolean> {
    const isThere = this.#forget(id)
    await this.#store?.remove(id)
    return isThere
  }

  #keep(share: StoredShare): void {
    this.#forgetHash(share.id)
    this.#links.set(share.id, share)
    if (share.hash !== undefined) this.#idByHash.set(share.hash, share.id)
  }

  #forget(id: string): boolean {
    this.#forgetHash(id)
    return this.#links.delete(id)
  }

  #forgetHash(id: string): void {
    const hash = this.#links.get(id)?.hash
    if (hash !== undefined) this.#idByHash.delete(hash)
  }

  /** The store removes ended links by itself. */
  #removeEnded(): void {
    for (const link of this.#links.values()) if (Date.now() >= endOf(link)) this.#forget(link.id)
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
