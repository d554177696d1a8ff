import * as z from 'zod'
import { sessionId, turnId } from './shapes/scalars.ts'
import { turn } from './shapes/session.ts'
import { verb } from './verb.ts'

export const endTurn = verb({
  summary: 'Ends a turn, and stops the processes whose lifetime it is.',
  route: 'POST /sessions/{session}/turns/{turn}/end',
  needs: 'operate',
  input: () => z.strictObject({ session: sessionId, turn: turnId }),
  output: () => turn,
  codes: ['turn_unknown', 'denied'],
})
