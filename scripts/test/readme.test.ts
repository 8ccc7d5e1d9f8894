// The README says of other tunnels what the relay's landing page says.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { COMPARISON } from '../../relay/web/src/texts/facts.ts'
import { root } from '../../tools/programs/command.ts'

test('the comparison is that of the landing page', () => {
  const { columns, rows, note } = COMPARISON
  const lines = rows.map(({ what, facts }) => `| ${[what, ...facts].join(' | ')} |`)
  const table = [`| | ${columns.join(' | ')} |`, `|${'---|'.repeat(columns.length + 1)}`, ...lines]
  expect(readFileSync(path.join(root, 'README.md'), 'utf8')).toContain(`${table.join('\n')}\n\n${note}`)
})
