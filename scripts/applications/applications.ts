// The applications of the proof, those that are quickly had first.
import type { Application } from './application.ts'
import { DEBIAN } from './apps/debian.ts'
import { NODE } from './apps/node.ts'

export const APPLICATIONS: readonly Application[] = [...DEBIAN, ...NODE]
