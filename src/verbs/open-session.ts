import * as z from 'zod'
import { amounts } from './shapes/allowance.ts'
import { folder, sessionId } from './shapes/scalars.ts'
import { session } from './shapes/session.ts'
import { verb } from './verb.ts'

export const openSession = verb({
  summary: 'Opens a session.',
  description:
    'Opening an open session changes nothing, unless it gives the session its first allowance, preset or folder. With `parentSession` it is below another session: it ends with that one, and is bound by its rules and its allowance.',
  route: 'PUT /sessions/{session}',
  needs: 'operate',
  repeat: 'always',
  input: () =>
    z.strictObject({
      session: sessionId,
      label: z.string().min(1).max(200).exactOptional().describe('a name for people'),
      allowance: amounts
        .exactOptional()
        .describe('what all of its processes together may use; only the host may give it'),
      workspace: folder
        .exactOptional()
        .describe('the folder that the agent of the session works in; its rules bind the session'),
      parentSession: sessionId
        .exactOptional()
        .describe('the session above it, which must be open; a session may open children of itself only'),
      preset: z
        .string()
        .max(100)
        .exactOptional()
        .describe(
          'the rules that it begins with: observe, ask, edit or full; an open session keeps a stricter preset, and a wider one is a conflict',
        ),
    }),
  output: () => session,
  codes: [
    'session_unknown',
    'session_ended',
    'conflict',
    'limit_exceeded',
    'already_ended',
    'denied',
    'invalid_rule',
    'not_available',
  ],
})
