// The page that lists the visits: they came while other pages were open, too.
import { element, make } from '../../shared/dom.ts'
import { openBoard } from '../board.ts'

openBoard(({ visits, visitCount }) => {
  element('count').textContent = String(visitCount)
  element('visits').replaceChildren(
    ...visits.map(({ at, request }) => make('li', `${new Date(at).toLocaleTimeString()} ${request}`)),
  )
  element('waiting').hidden = visitCount > 0
})
