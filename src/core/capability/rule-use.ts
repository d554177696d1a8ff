/** How often a rule with a limited number of uses was used. It is removed with the rule set of its subject. */
export interface RuleUse {
  readonly id: string
  /** The subject of the rule set that has the rule. */
  readonly subject: string
  readonly used: number
}
