// The page on which the notice is written.
import { element } from '../../shared/dom.ts'
import { openBoard } from '../board.ts'
import { NOTICE_MAX_CHARS } from '../messages.ts'

const field = element<HTMLTextAreaElement>('notice')
field.maxLength = NOTICE_MAX_CHARS
let shown = ''

const send = await openBoard(({ notice }) => {
  // A text that the person is writing is not overwritten.
  if (field.value === shown) field.value = notice
  shown = notice
  element('saved').textContent = field.value === notice ? 'This is on the board.' : ''
})
element('write').addEventListener('submit', (event) => {
  event.preventDefault()
  send({ type: 'write', notice: field.value })
})
