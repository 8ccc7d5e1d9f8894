// The site's visitors who are logged in.
import { Sessions } from '../../../shared/sessions.ts'

export const sessions: Sessions = new Sessions()
