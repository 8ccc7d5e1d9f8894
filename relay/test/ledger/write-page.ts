// Writes docs/coverage.md from the ledger: `npm run coverage`. `npm test` fails when the page is another one.
import { writeFileSync } from 'node:fs'
import { COVERAGE_PAGE, coveragePage } from './page.ts'

writeFileSync(COVERAGE_PAGE, coveragePage())
