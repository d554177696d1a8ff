import * as z from 'zod'
import { agentFileShape, versionHash } from './shapes/agent-file.ts'
import { folder } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const trustFile = verb({
  summary: 'Trusts a file that defines something for agents, or no longer.',
  description:
    'This version of the image, skill, slash command or hooks counts from now on. The hash is that of agentFiles: a file that has changed since is refused. null: no version of it counts any more.',
  route: 'PUT /agent-files/trust',
  needs: 'admin',
  asPerson: 'if_known',
  repeat: 'always',
  input: () =>
    z.strictObject({
      path: folder.describe('of the file, or of the folder of a skill'),
      hash: versionHash.nullable().describe('of the version to trust, from agentFiles; null: no longer'),
    }),
  output: () => agentFileShape,
  codes: ['not_found', 'conflict', 'invalid_input', 'denied'],
})
