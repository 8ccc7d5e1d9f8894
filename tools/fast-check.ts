// fast-check with the seed of the tests: all that tests import it through this file.
import * as fc from 'fast-check'
import { TEST_SEED } from './test-depth.ts'

fc.configureGlobal({ seed: TEST_SEED })

export default fc
