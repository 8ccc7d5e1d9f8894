// The hook `commit-msg` (lefthook.yml): `node commit-subject.mjs FILE` refuses a message whose subject is too long. It runs on any Node.
import { readFileSync } from 'node:fs'

/** Characters: git's own tools cut off what is longer. */
const SUBJECT_MAX = 72

const [subject = ''] = readFileSync(process.argv[2], 'utf8').split('\n', 1)
const length = [...subject].length
// Commits that a rebase melts into others are named after those.
if (length > SUBJECT_MAX && !/^(fixup|squash|amend)! /.test(subject)) {
  console.error(`The subject has ${length} characters, ${SUBJECT_MAX} at most: ${subject}`)
  process.exit(1)
}
