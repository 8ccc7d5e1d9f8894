// The links: each has a short path and counts who followed it.

const LINKS_MAX = 50
/** Characters of a link that browsers follow without complaint. */
const URL_MAX_CHARS = 2000

export interface Link {
  path: string
  title: string
  url: string
  followed: number
}

export class Links {
  readonly #links: Map<string, Link> = new Map()

  all(): Link[] {
    return [...this.#links.values()]
  }

  /** @throws Error that tells the user what is wrong */
  add(title: string, address: string): void {
    const url = URL.parse(address)
    // A link with the scheme `javascript:` would run in the visitor's page.
    if (!url || !/^https?:$/.test(url.protocol))
      throw new Error('An address begins with https:// or http://.')
    if (url.href.length > URL_MAX_CHARS)
      throw new Error(`An address has at most ${URL_MAX_CHARS} characters.`)
    if (this.#links.size >= LINKS_MAX) throw new Error(`There are ${LINKS_MAX} links already.`)
    const path = this.#freePath(title)
    this.#links.set(path, { path, title, url: url.href, followed: 0 })
  }

  follow(path: string): Link | undefined {
    const link = this.#links.get(path)
    if (link) link.followed += 1
    return link
  }

  remove(path: string): void {
    this.#links.delete(path)
  }

  #freePath(title: string): string {
    const words = title.toLowerCase().match(/[a-z0-9]+/g)
    const wanted = words?.join('-') ?? 'link'
    let path = wanted
    for (let number = 2; this.#links.has(path); number += 1) path = `${wanted}-${number}`
    return path
  }
}
