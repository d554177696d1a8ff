import { throughClient } from '../../client/connect.ts'
import type { AgentClient } from '../../core/authority/person.ts'
import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import type { McpReeve } from '../session.ts'
import type { ElicitedAnswer } from './elicitation.ts'
import type { Approval } from './find-approval.ts'

export type AnswerVerbs = Pick<ReeveVerbs, 'approve' | 'deny' | 'reply'>

/** The person who sits at a client. */
export interface PersonHere {
  readonly name: `human:${string}`
  /** The verbs in the name of that person. */
  readonly answering: AnswerVerbs
}

/** Whether this person is asked: an approval may be for another one. */
export function isAskedOf({ person }: Approval, name: PersonHere['name']): boolean {
  return person === null || `human:${person}` === name
}

/** The verbs with which a client passes on the answers of a person. */
export function answersThrough(reeve: McpReeve, name: PersonHere['name'], through: AgentClient): AnswerVerbs {
  return (
    reeve.calledFrom?.({ person: name, approver: through.elicited, through }, name) ??
    throughClient(reeve, through)
  )
}

export const ELICITED: AgentClient = { sessions: [], elicited: true }

/** Answers in the name of the person. The first answer wins, here or elsewhere. */
export function answerAs(
  { answering }: PersonHere,
  id: string,
  answer: ElicitedAnswer,
): Promise<OutputOf<'approve'>> {
  switch (answer.type) {
    case 'approve':
      return answering.approve({ id, grant: answer.grant })
    case 'deny':
      return answering.deny({ id, ...(answer.advice === undefined ? {} : { advice: answer.advice }) })
    case 'reply':
      return answering.reply({ id, value: answer.value })
  }
}
