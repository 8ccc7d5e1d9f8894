// Links that lead visitors to the site wherever it is: `/go/` of this relay, and of other relays that this one knows.
import type { Site } from '@svc/sdk-browser'
import { element, make } from '../shared/dom.ts'

/** Any relay with discovery can lead to the site. More links than these would be a list of relays. */
const LINKS_MAX = 3

/** The part of a relay's answer in its envelope that is read here. */
interface Answer {
  data: { discovery?: boolean; relays?: { api_https_addr: string }[] }
}

/** Shows the links while the site is online, at a relay that has discovery. */
export function showGoLinks(site: Site): void {
  const show = async (): Promise<void> => {
    const origins = site.state === 'online' ? await findRelays() : []
    const [label] = new URL(site.canonicalUrl || location.origin).hostname.split('.')
    const items = origins.map((origin) => item(`${origin}/go/${label}`))
    element('go-links').replaceChildren(...items)
    element('anywhere').hidden = items.length === 0 || site.state !== 'online'
  }
  site.addEventListener('statechange', () => void show())
  void show()
}

/** @returns the origins of this relay and of others; none without discovery, or when the relay does not answer */
async function findRelays(): Promise<string[]> {
  try {
    const { data } = await ask('/sdk/domain')
    if (data.discovery !== true) return []
    const { relays = [] } = (await ask('/discovery')).data
    const urls = relays.map(({ api_https_addr }) => new URL(api_https_addr))
    return urls
      .filter(({ protocol }) => protocol === 'https:')
      .map(({ origin }) => origin)
      .slice(0, LINKS_MAX)
  } catch {
    return []
  }
}

async function ask(path: string): Promise<Answer> {
  const response = await fetch(path)
  return response.json()
}

function item(url: string): HTMLLIElement {
  const link = make('a', url)
  link.href = url
  link.target = '_blank'
  link.rel = 'noopener'
  const made = make('li')
  made.append(link)
  return made
}
