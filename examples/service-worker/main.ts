// The board's first page: what is on the board now.
import { element } from '../shared/dom.ts'
import { openBoard } from './board.ts'

openBoard(({ notice }) => {
  element('notice').textContent = notice || 'Nothing on the board yet.'
})
