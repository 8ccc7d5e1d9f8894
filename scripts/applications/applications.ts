// The applications of the proof, those that are quickly had first.
import type { Application } from './application.ts'
import { DEBIAN } from './apps/debian.ts'
import { FRAMEWORKS } from './apps/frameworks.ts'
import { GO } from './apps/go.ts'
import { LARAVEL } from './apps/laravel.ts'
import { NODE } from './apps/node.ts'
import { PYTHON } from './apps/python.ts'
import { RAILS } from './apps/rails.ts'
import { S3 } from './apps/s3.ts'
import { SPRING } from './apps/spring.ts'
import { WORDPRESS } from './apps/wordpress.ts'

export const APPLICATIONS: readonly Application[] = [
  ...DEBIAN,
  ...NODE,
  ...PYTHON,
  ...GO,
  ...FRAMEWORKS,
  ...SPRING,
  ...RAILS,
  ...S3,
  ...LARAVEL,
  ...WORDPRESS,
]
