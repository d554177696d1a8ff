import * as z from 'zod'
import { AGENT_FILE_KINDS } from '../core/agent-file/agent-file.ts'
import { agentFileShape } from './shapes/agent-file.ts'
import { folder } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const agentFiles = verb({
  summary: 'Lists the files that define something for agents: images, skills, slash commands and hooks.',
  description:
    'Those of the folder and of all folders above it, the nearest first, and those of the home. They are inert until a person trusts them.',
  route: 'GET /agent-files',
  needs: 'read',
  input: () =>
    z.strictObject({
      folder: folder.exactOptional().describe('the workspace; without one, those of the home'),
      kind: z.enum(AGENT_FILE_KINDS).exactOptional().describe('files of this kind alone'),
    }),
  output: () => z.strictObject({ files: z.array(agentFileShape) }),
  codes: ['denied'],
})
