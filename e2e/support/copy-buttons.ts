// Clicks every Copy button of a page, and compares what it copies with what stands beside it.
import { expect, type Locator, type Page } from '@playwright/test'

/** The marks of the relay's pages and of the examples: the label of a button changes when it was clicked. */
const COPY_BUTTONS = 'button.copy:visible, button#copy:visible, button#kept-copy:visible'

/** Expects of each Copy button that is in view that it copies the text of its row, all of it and nothing else. @returns what they copied */
export async function expectCopies(page: Page): Promise<string[]> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const buttons = page.locator(COPY_BUTTONS)
  const named = page.getByRole('button', { name: /^Copy (?!as curl)|^Copy$/ })
  // a button that was clicked has its name back after a moment
  await expect(async () => expect(await buttons.count()).toBe(await named.count())).toPass()
  const copied: string[] = []
  for (const button of await buttons.all()) {
    const beside = await textBeside(button)
    expect(beside).not.toBe('')
    await page.evaluate(() => navigator.clipboard.writeText(''))
    await button.click()
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(beside)
    copied.push(beside)
  }
  return copied
}

/** The text of the row of a button. */
function textBeside(button: Locator): Promise<string> {
  return button.evaluate((element) =>
    Array.from(element.parentElement?.childNodes ?? [])
      .filter((node) => node !== element)
      .map((node) => (node instanceof HTMLTextAreaElement ? node.value : node.textContent))
      .join('')
      .trim(),
  )
}
