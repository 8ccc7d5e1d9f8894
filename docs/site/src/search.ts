// The dialog of the search: it asks Pagefind, shows pages with their fitting sections, and is used by keyboard as well.

/** Pages that are shown at most. */
const PAGES_MAX = 8
/** Sections of a page that are shown at most. */
const SECTIONS_MAX = 3

interface Section {
  title: string
  url: string
  /** HTML that Pagefind made of our text: words, and `<mark>` around those that were searched. */
  excerpt: string
}

interface FoundPage extends Omit<Section, 'title'> {
  meta: { title: string }
  sub_results: Section[]
}

interface Pagefind {
  init(): Promise<void>
  /** @returns null when another search has begun meanwhile */
  debouncedSearch(words: string): Promise<{ results: { data(): Promise<FoundPage> }[] } | null>
}

export class SiteSearch extends HTMLElement {
  readonly #dialog: HTMLDialogElement = this.querySelector('dialog')!
  readonly #input: HTMLInputElement = this.querySelector('input')!
  readonly #status: HTMLElement = this.querySelector('.search-status')!
  readonly #results: HTMLElement = this.querySelector('.search-results')!
  #pagefind: Promise<Pagefind> | undefined

  connectedCallback(): void {
    const button = this.querySelector('button')!
    button.disabled = false
    button.addEventListener('click', () => this.#open())
    addEventListener('keydown', (event) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      if (this.#dialog.open) this.#dialog.close()
      else this.#open()
    })
    this.#dialog.addEventListener('click', ({ target }) => {
      // A press beside it, or on a link to a place of this page.
      if (target === this.#dialog || (target as Element).closest('a') !== null) this.#dialog.close()
    })
    this.#dialog.addEventListener('keydown', (event) => this.#move(event))
    this.#input.addEventListener('input', () => void this.#search())
    this.querySelector('form')!.addEventListener('submit', (event) => this.#enter(event))
  }

  #open(): void {
    this.#dialog.showModal()
    this.#input.select()
    this.#pagefind ??= this.#load()
  }

  async #load(): Promise<Pagefind> {
    const pagefind: Pagefind = await import(/* @vite-ignore */ `${this.dataset.base}pagefind/pagefind.js`)
    await pagefind.init()
    return pagefind
  }

  async #search(): Promise<void> {
    const words = this.#input.value.trim()
    if (words === '') return this.#show([], '')
    try {
      const found = await (await this.#pagefind)?.debouncedSearch(words)
      if (!found || words !== this.#input.value.trim()) return
      const pages = await Promise.all(found.results.slice(0, PAGES_MAX).map((result) => result.data()))
      if (words === this.#input.value.trim()) this.#show(pages, countOf(found.results.length))
    } catch {
      this.#pagefind = undefined
      this.#show([], 'The search could not be loaded. Close it, and open it again to try once more.')
    }
  }

  #show(pages: FoundPage[], status: string): void {
    this.#status.textContent = status
    this.#results.replaceChildren(...pages.map(itemOf))
  }

  /** Enter follows the first result. */
  #enter(event: SubmitEvent): void {
    if (event.submitter !== null && document.activeElement === event.submitter) return
    event.preventDefault()
    this.#results.querySelector('a')?.click()
  }

  /** The arrows go through the field and the results. */
  #move(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const stops: HTMLElement[] = [this.#input, ...this.#results.querySelectorAll('a')]
    const at = stops.indexOf(document.activeElement as HTMLElement)
    stops.at((at + step) % stops.length)?.focus()
  }
}

function countOf(pages: number): string {
  if (pages === 0) return 'No page has these words.'
  return pages === 1 ? '1 page' : `${pages} pages`
}

function itemOf({ url, meta, excerpt, sub_results }: FoundPage): HTMLElement {
  const item = document.createElement('li')
  // To Pagefind, what comes before the first heading is a section as well.
  const sections = sub_results.filter((section) => section.url !== url && !section.url.endsWith('#_top'))
  item.append(
    linkTo({ url, title: meta.title, excerpt: sections.length > 0 ? '' : excerpt }, 'page'),
    ...sections.slice(0, SECTIONS_MAX).map((section) => linkTo(section, 'section')),
  )
  return item
}

function linkTo({ url, title, excerpt }: Section, kind: string): HTMLElement {
  const link = document.createElement('a')
  link.href = url
  link.className = `search-${kind}`
  const name = document.createElement('strong')
  name.textContent = title
  link.append(name)
  if (excerpt === '') return link
  const text = document.createElement('span')
  text.innerHTML = excerpt
  link.append(text)
  return link
}
