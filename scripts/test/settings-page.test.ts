// docs/operate/settings.md has the table that the relay's settings make.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../../tools/programs/command.ts'
import { withSection } from '../pages/section.ts'
import { SETTINGS_PAGE, SETTINGS_SECTION, settingsTable } from '../pages/settings-table.ts'

test('the table is that of `node scripts/pages/settings-table.ts`', () => {
  const page = readFileSync(path.join(root, SETTINGS_PAGE), 'utf8')
  expect(page).toBe(withSection(page, SETTINGS_SECTION, settingsTable()))
})

test('a section is replaced, and a missing one is an error', () => {
  const page = 'a\n<!-- x -->\nold\n<!-- end of x -->\nb\n'
  expect(withSection(page, 'x', 'new')).toBe('a\n<!-- x -->\n\nnew\n\n<!-- end of x -->\nb\n')
  expect(() => withSection(page, 'y', 'new')).toThrow('the page has no <!-- y -->')
})
