// Starts the page of `npm start`.
import { render } from '../preact.ts'
import { Start } from './start.tsx'

render(<Start />, document.body)
