import * as z from 'zod'
import { sessionId, turnId } from './shapes/scalars.ts'
import { turn } from './shapes/session.ts'
import { verb } from './verb.ts'

export const openTurn = verb({
  summary: 'Opens a turn of a session.',
  route: 'PUT /sessions/{session}/turns/{turn}',
  needs: 'operate',
  input: () => z.strictObject({ session: sessionId, turn: turnId }),
  output: () => turn,
  codes: ['session_unknown', 'session_ended', 'turn_ended', 'denied'],
})
