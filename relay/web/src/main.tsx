// Starts the relay's face in its document.
import { resume } from './landing/publication.ts'
import { render } from './preact.ts'
import { App } from './shell/app.tsx'

render(<App />, document.body)
resume()
