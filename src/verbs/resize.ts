import * as z from 'zod'
import { commandCodes } from './shapes/codes.ts'
import { terminalSize } from './shapes/command-spec.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const resize = verb({
  summary: "Changes the size of a command's terminal.",
  route: 'POST /processes/{pid}/resize',
  needs: 'operate',
  repeat: 'always',
  input: () => z.strictObject({ pid: processRef, ...terminalSize }),
  output: () => z.strictObject({ type: z.enum(['resized']) }),
  codes: [...commandCodes, 'already_ended', 'no_terminal'],
})
