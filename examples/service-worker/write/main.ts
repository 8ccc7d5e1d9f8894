// The page on which the notice is written.
import { element } from '../../shared/dom.ts'
import { openBoard } from '../board.ts'
import { NOTICE_MAX_CHARS } from '../messages.ts'

const field = element<HTMLTextAreaElement>('notice')
field.maxLength = NOTICE_MAX_CHARS
let shown = ''

const send = openBoard(({ notice }) => {
  // A text that the person is writing is not overwritten.
  if (field.value === shown) field.value = notice
  shown = notice
  showWhetherSaved()
})
field.addEventListener('input', showWhetherSaved)
element('write').addEventListener('submit', (event) => {
  event.preventDefault()
  send({ type: 'write', notice: field.value })
})
element<HTMLButtonElement>('put-up').disabled = false

function showWhetherSaved(): void {
  element('saved').textContent = shown !== '' && field.value === shown ? 'This is on the board.' : ''
}
