// Groups tests that hold for each of several variants: `npm test` runs the first, and the night all of them.
import { describe } from 'vitest'
import { wholeOnly } from './test-depth.ts'

/** @param title in which `%s` stands for the variant */
export function describeVariants<T extends string>(
  title: string,
  variants: readonly T[],
  suite: (variant: T) => void,
): void {
  for (const [index, variant] of variants.entries()) {
    const group = index === 0 ? describe : wholeOnly(describe, 'variant')
    group(title.replace('%s', variant), () => suite(variant))
  }
}
