import * as z from 'zod'
import { agentFileShape } from './shapes/agent-file.ts'
import { folder } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const agentFile = verb({
  summary: 'Shows a file that defines something for agents, so that a person can decide whether to trust it.',
  route: 'GET /agent-files/file',
  needs: 'read',
  input: () => z.strictObject({ path: folder.describe('of the file, or of the folder of a skill') }),
  output: () =>
    z.strictObject({
      file: agentFileShape,
      text: z.string().describe('what it says; of a skill, SKILL.md behind its front matter'),
      allowedTools: z.array(z.string()).describe('of a skill: the tools that it says it uses'),
      files: z.array(z.string()).describe('the other files of a skill, relative to its folder'),
    }),
  codes: ['not_found', 'denied'],
})
