import * as z from 'zod'
import { MAX_VIEW_ROOTS } from '../core/object/view.ts'
import { forkMode } from './shapes/agent.ts'
import { amounts } from './shapes/allowance.ts'
import { processCodes } from './shapes/codes.ts'
import { objectName } from './shapes/object.ts'
import { record } from './shapes/record.ts'
import { folder, processRef } from './shapes/scalars.ts'
import { childFields } from './spawn-agent.ts'
import { verb } from './verb.ts'

export const forkAgent = verb({
  summary: 'Starts an agent whose session branches from that of another one, which goes on unchanged.',
  description:
    'The model of the fork reads the session up to the branch point, and then its goal. The earlier log is referred to, not copied. What the request does not say is as in the other agent, and the fork may do nothing that this one may not. Answers to approvals are not taken over: a person is asked again. The fork of an agent works below the agent that asks, with a part of its allowance, and reports to it; that of a person works beside the agent that it branches from.',
  route: 'POST /agents/{pid}/fork',
  needs: 'operate',
  repeat: { keys: ['idempotencyKey'], generated: 'always' },
  idempotencyHeader: true,
  input: () => {
    const { pid: _, program: __, writtenTools: ___, image, role, ...given } = childFields()
    return z.strictObject({
      ...given,
      pid: processRef.describe('the agent that it branches from, at work or not or ended: a pid or a name'),
      at: z
        .number()
        .int()
        .min(1)
        .exactOptional()
        .describe(
          'it branches behind this turn; by default where the session is now: in an open turn behind the last answer whose calls all have results',
        ),
      mode: forkMode
        .default('restricted')
        .describe(
          'restricted: it reads and changes nothing; worker: as restricted, and it ends with its first turn; copy: it may do what the agent may that it branches from; speculative: the objects that it writes are gone at its end unless they are merged, and it writes files only with a worktree',
        ),
      roots: z
        .array(objectName)
        .max(MAX_VIEW_ROOTS)
        .exactOptional()
        .describe(
          'names of objects, or of folders of them, that it sees; all that the agent sees by default',
        ),
      image: image.describe(
        'another image; what neither the request nor the image says is as in the agent that it branches from',
      ),
      role: role.describe('the name of its role; that of its image or of the agent by default'),
      cwd: folder.exactOptional().describe('its folder, inside that of the agent'),
      allowance: amounts
        .exactOptional()
        .describe(
          'its share of what the agent that asks may use; a missing name gets half of what is left. Beside an agent without a parent: as much as that was given, by default',
        ),
    })
  },
  output: () =>
    z.strictObject({
      type: z
        .enum(['started', 'existing', 'asked'])
        .describe(
          'started: it is at work; existing: the request was made before; asked: a person decides first',
        ),
      record: record.describe('the fork; `agent.forkedFrom` says where its session branches'),
    }),
  codes: [
    ...processCodes,
    'invalid_request',
    'invalid_rule',
    'already_running',
    'not_restorable',
    'owned_elsewhere',
    'not_available',
    'not_found',
    'untrusted',
    'conflict',
    'path_held',
    'already_ended',
    'stopping',
    'depth_exceeded',
    'limit_exceeded',
    'payload_too_large',
    'session_ended',
    'session_unknown',
    'replay_conflict',
  ],
})
