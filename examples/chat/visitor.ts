// Runs in a visitor's page: asks for a name, joins the room and shows it.
import { element } from '../shared/dom.ts'
import { connect } from './connection.ts'
import { createView, show } from './view.ts'

/** The name is kept only on this visitor's device, for the next time. */
const STORAGE_KEY = 'name'

const join = element<HTMLFormElement>('join')
const nameField = element<HTMLInputElement>('name')
nameField.value = localStorage.getItem(STORAGE_KEY) ?? ''
join.addEventListener('submit', (event) => {
  event.preventDefault()
  const name = nameField.value
  localStorage.setItem(STORAGE_KEY, name)
  join.hidden = true
  element('room').hidden = false
  const say = connect(name, show, (status) => {
    element('status').textContent = status
  })
  createView(say)
  element('text').focus()
})
