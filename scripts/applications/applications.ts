// The applications of the proof, those that are quickly had first.
import type { Application } from './application.ts'
import { DEBIAN } from './apps/debian.ts'
import { GO } from './apps/go.ts'
import { NODE } from './apps/node.ts'
import { PYTHON } from './apps/python.ts'

export const APPLICATIONS: readonly Application[] = [...DEBIAN, ...NODE, ...PYTHON, ...GO]
