// Tabs of code that says the same in several ways. Without this script all of it is shown, each with its name.

/** What a reader chose on this page counts for each group that has it. */
export class CodeTabs extends HTMLElement {
  readonly #tabs: HTMLElement[] = [...this.querySelectorAll<HTMLElement>('[role=tab]')]
  readonly #panels: HTMLElement[] = [...this.querySelectorAll<HTMLElement>('[role=tabpanel]')]

  connectedCallback(): void {
    this.#show(0)
    for (const [index, tab] of this.#tabs.entries())
      tab.addEventListener('click', () => this.#choose(index, tab))
    this.addEventListener('keydown', (event) => this.#move(event))
  }

  /** Shows the code of this name, if the group has it. */
  showNamed(name: string): void {
    const index = this.#panels.findIndex((panel) => panel.dataset.name === name)
    if (index !== -1) this.#show(index)
  }

  /** The other groups change with it, and what was pressed stays where it is on the screen. */
  #choose(index: number, tab: HTMLElement): void {
    const before = tab.getBoundingClientRect().top
    const name = this.#panels[index]?.dataset.name ?? ''
    for (const group of document.querySelectorAll<CodeTabs>('code-tabs')) group.showNamed(name)
    scrollBy({ top: tab.getBoundingClientRect().top - before, behavior: 'instant' })
  }

  #show(shown: number): void {
    for (const [index, tab] of this.#tabs.entries()) {
      tab.ariaSelected = `${index === shown}`
      tab.tabIndex = index === shown ? 0 : -1
    }
    for (const [index, panel] of this.#panels.entries()) panel.hidden = index !== shown
  }

  #move(event: KeyboardEvent): void {
    const at = this.#tabs.indexOf(event.target as HTMLElement)
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (at === -1 || step === undefined) return
    event.preventDefault()
    const to = (at + (isFromRight(this) ? -step : step) + this.#tabs.length) % this.#tabs.length
    this.#tabs[to]?.focus()
    this.#show(to)
  }
}

function isFromRight(element: Element): boolean {
  return getComputedStyle(element).direction === 'rtl'
}
