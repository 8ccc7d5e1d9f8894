// What a section of the administration gets.
import type { VNode } from '../preact.ts'
import type { Part, Parts } from './admin-data.ts'
import type { ChangeRequest } from './change-request.ts'

/** The parts that are loaded for every section. */
type BasePart = 'load' | 'relay' | 'policy' | 'cache' | 'payments' | 'at'

export interface PageProps<Need extends Part = never> {
  /** The list of sites is there, too, when another section has loaded it. */
  view: Pick<Parts, Need | BasePart> & Partial<Pick<Parts, 'leases'>>
  /** What follows the section in the path. */
  below: string
  /** Applies a change and loads the data again. @returns whether it was applied */
  act(change: ChangeRequest): Promise<boolean>
  refresh(): Promise<void>
}

export type Page<Need extends Part = never> = (props: PageProps<Need>) => VNode
