// The tables of the landing page, which come after its first load.
import type { VNode } from '../preact.ts'
import { COMPARISON, WHO_SEES } from '../texts/facts.ts'
import { FactsTable } from './facts-table.tsx'

export function Facts(): VNode {
  return (
    <>
      <FactsTable id="sees" {...WHO_SEES} />
      <FactsTable id="comparison" {...COMPARISON} />
    </>
  )
}
