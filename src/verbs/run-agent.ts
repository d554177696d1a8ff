import * as z from 'zod'
import { MAX_GOAL_TURNS } from '../core/agent/state.ts'
import { inputMode, until } from './shapes/agent.ts'
import { runAnswer } from './shapes/agent-answer.ts'
import {
  byRequestId,
  content,
  hasOneContent,
  inputId,
  methodCodes,
  ONE_CONTENT,
} from './shapes/agent-request.ts'
import { place } from './shapes/agent-rewind.ts'
import { jsonObject } from './shapes/json.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const runAgent = verb({
  summary: 'Gives an agent an input: it starts a turn, or waits for one.',
  description:
    'An idle agent starts a turn. In a running one, `queue` waits for the end of the turn, and `steer` joins it at the next model call; `run` is refused with `already_running`. In a paused one, `run` ends the paused turn and starts another. The input is stored before the answer: it is neither lost nor taken twice. The same `id` with the same parts gets the same answer, with other parts `input_conflict`.',
  route: 'POST /agents/{pid}/run',
  needs: 'operate',
  repeat: byRequestId,
  input: () =>
    z
      .strictObject({
        pid: processRef,
        id: inputId
          .exactOptional()
          .describe('the id of the input: with the same id and the same parts it is the same input'),
        ...content,
        mode: inputMode
          .default('run')
          .describe('`run` starts a turn now, `queue` after the others, `steer` joins the running turn'),
        schema: jsonObject.exactOptional().describe('the JSON schema that the result of the turn must fit'),
        until: until
          .exactOptional()
          .describe('turns are repeated until this holds; with the mode `run` only'),
        maxTurns: z
          .number()
          .int()
          .min(1)
          .max(MAX_GOAL_TURNS)
          .exactOptional()
          .describe('with `until`: the maximum number of turns; 20 by default'),
        expectedHead: place
          .exactOptional()
          .describe('the head of the session that the caller has seen; `conflict` if it has moved'),
      })
      .refine(hasOneContent, ONE_CONTENT)
      .refine(({ until, maxTurns }) => maxTurns === undefined || until !== undefined, 'maxTurns needs until'),
  output: () => runAnswer,
  codes: [
    ...methodCodes,
    'already_running',
    'input_conflict',
    'conflict',
    'limit_exceeded',
    'payload_too_large',
  ],
})
