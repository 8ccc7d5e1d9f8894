// Says what happens, in the terminal and on the page, and leaves time to read it.
import { setTimeout as pause } from 'node:timers/promises'
import type { Locator, Page } from '@playwright/test'

/** Milliseconds to read a sentence, and for each of its characters. */
const READ_MS = 1500
const READ_CHARACTER_MS = 35
/** Milliseconds between two keys, as a person types. */
const KEY_MS = 55

interface NarratorOptions {
  /** Whether nobody watches. */
  isHurried: boolean
  print(line: string): void
}

export class Narrator {
  readonly #isHurried: boolean
  readonly #print: (line: string) => void
  #count = 0

  constructor({ isHurried, print }: NarratorOptions) {
    this.#isHurried = isHurried
    this.#print = print
  }

  async say(page: Page, text: string): Promise<void> {
    this.#count += 1
    this.#print(`${this.#count}. ${text}`)
    await page.bringToFront()
    await page.evaluate(showCaption, text)
    await this.#wait(READ_MS + READ_CHARACTER_MS * text.length)
  }

  /** Types over what a field has. */
  async type(field: Locator, text: string): Promise<void> {
    await field.fill('')
    await field.pressSequentially(text, { delay: this.#isHurried ? 0 : KEY_MS })
  }

  /** Brings it into view, and marks it for as long as the next caption stands. */
  async point(at: Locator): Promise<void> {
    await at.evaluate(mark)
  }

  async #wait(ms: number): Promise<void> {
    if (!this.#isHurried) await pause(ms)
  }
}

/** What the functions below use of the page in which they run; the scripts know no DOM. */
interface CaptionElement {
  id: string
  popover: string
  style: object
  textContent: string
  showPopover(): void
}

interface CaptionDocument {
  body: { append(element: CaptionElement): void }
  createElement(name: string): CaptionElement
  getElementById(id: string): CaptionElement | null
}

interface MarkedElement {
  scrollIntoView(options: object): void
  animate(frames: readonly object[], options: object): void
}

/** Runs in the page, whose policy allows no style of others but by script. */
function showCaption(text: string): void {
  const { document } = globalThis as unknown as { document: CaptionDocument }
  const id = 'svc-demo-caption'
  let caption = document.getElementById(id)
  if (caption === null) {
    caption = document.createElement('div')
    caption.id = id
    caption.popover = 'manual'
    Object.assign(caption.style, {
      background: '#17191c',
      border: '0',
      borderRadius: '0.75rem',
      boxShadow: '0 8px 32px rgb(0 0 0 / 35%)',
      color: '#ffffff',
      font: '600 1.125rem/1.45 "Figtree Variable", system-ui, sans-serif',
      inset: 'auto 0 1.5rem',
      margin: '0 auto',
      maxWidth: 'min(42rem, calc(100vw - 2rem))',
      padding: '0.9rem 1.25rem',
    })
    document.body.append(caption)
  }
  caption.textContent = text
  caption.showPopover()
}

/** Runs in the page. */
function mark(element: MarkedElement): void {
  element.scrollIntoView({ block: 'center', behavior: 'smooth' })
  const mark = [{ outline: '3px solid #0b6b57', outlineOffset: '6px' }]
  element.animate([...mark, ...mark], { duration: 6000 })
}
