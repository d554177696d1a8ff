import { ALNUM, ANY_HEX, HEX, LOWER_OR_DIGIT, PARTS, UPPER_OR_DIGIT, WORD } from './characters.ts'

/**
 * A token that is recognised by its prefix. The prefix stays and names the token; the rest is masked. Prefixes, alphabets and
 * lengths are those that the issuers document and that public rule sets for secret scanners list.
 */
export interface TokenShape {
  readonly prefix: string
  /** At least this many characters of the set follow. The rest of the word is masked, too. */
  readonly least: number
  readonly of: number
  /** The token continues over these characters, which end other words. */
  readonly rest?: number
}

/** Minimum lengths are somewhat below those of real tokens, and long enough that no word of any language matches. */
export const TOKEN_SHAPES: readonly TokenShape[] = [
  // AWS: access keys of users and roles, Bedrock keys
  ...shapes('AKIA ASIA ABIA ACCA', 16, UPPER_OR_DIGIT),
  ...shapes('ABSK', 60, ALNUM, PARTS),
  ...shapes('bedrock-api-key-', 20, ALNUM, PARTS),
  // GitHub, GitLab, Bitbucket, Gitea
  ...shapes('ghp_ gho_ ghu_ ghs_ ghr_', 20, ALNUM),
  ...shapes('github_pat_', 20),
  ...shapes(
    'glpat- gldt- glrt- glptt- glagent- glcbt- glimt- glsoat- glft- gloas- glffct- glrtr-',
    16,
    WORD,
    PARTS,
  ),
  ...shapes('GR1348941', 18),
  ...shapes('ATBB', 28, ALNUM),
  ...shapes('ATCTT3', 40, WORD, PARTS),
  // Slack
  ...shapes('xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxo- xoxc- xoxd- xapp- xwfp-', 11, WORD, PARTS),
  // Payments: Stripe, Square, Flutterwave, Braintree, Razorpay, Plaid, Duffel, GoCardless, Shippo, EasyPost
  ...shapes('sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_', 10, ALNUM),
  ...shapes('whsec_', 16, ALNUM, PARTS),
  ...shapes('sq0atp- sq0csp- sq0idp-', 20),
  ...shapes('EAAA', 56),
  ...shapes('FLWSECK_TEST- FLWSECK-', 12, ALNUM),
  ...shapes('rzp_live_ rzp_test_', 14, ALNUM),
  ...shapes('access-sandbox- access-development- access-production-', 32),
  ...shapes('duffel_live_ duffel_test_', 30),
  ...shapes('shippo_live_ shippo_test_', 32, ANY_HEX),
  ...shapes('EZAK EZTK', 50, ALNUM),
  ...shapes('sk_sandbox_', 16, ALNUM),
  // Models: Anthropic, OpenAI and others with its format, Google, Hugging Face, Groq, xAI, Perplexity, Replicate, and others
  ...shapes('sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or-v1- sk-None- sk-lf- sk-litellm-', 16),
  ...shapes('sk-', 32, ALNUM),
  ...shapes('AIza', 30),
  ...shapes('hf_ api_org_', 30, ALNUM),
  ...shapes('gsk_', 32, ALNUM),
  ...shapes('xai- pplx-', 32, ALNUM),
  ...shapes('r8_', 32, ALNUM),
  ...shapes('lsv2_pt_ lsv2_sk_', 30),
  ...shapes('fw_', 22, ALNUM),
  ...shapes('tgp_v1_', 32),
  ...shapes('pcsk_', 40),
  ...shapes('tvly-', 20),
  ...shapes('nvapi-', 40),
  ...shapes('e2b_', 40, HEX),
  ...shapes('jina_', 40),
  ...shapes('voyage-', 40),
  ...shapes('fc-', 32, HEX),
  // Google OAuth
  ...shapes('GOCSPX-', 20),
  // Packages: npm, PyPI, RubyGems, Docker, NuGet, crates.io, Clojars, Packagist, Artifactory
  ...shapes('npm_', 30, ALNUM),
  ...shapes('pypi-', 32),
  ...shapes('rubygems_', 32, HEX),
  ...shapes('dckr_pat_ dckr_oat_', 20),
  ...shapes('oy2', 43, LOWER_OR_DIGIT),
  ...shapes('cio', 32, ALNUM),
  ...shapes('CLOJARS_', 50, ALNUM),
  ...shapes('AKCp', 60, ALNUM),
  ...shapes('cmVmd', 55, ALNUM),
  // Clouds: DigitalOcean, Alibaba, Tencent, Yandex, Heroku, Fly, Scaleway, Linode, Hetzner, Vercel, Netlify, Render, Railway
  ...shapes('dop_v1_ doo_v1_ dor_v1_', 32, HEX),
  ...shapes('LTAI', 16, ALNUM),
  ...shapes('AKID', 32, ALNUM),
  ...shapes('AQVN YCAJ', 34),
  ...shapes('HRKU-', 36),
  ...shapes('fo1_', 40),
  ...shapes('FlyV1 fm1a_ fm1r_ fm2_', 40, ALNUM, PARTS),
  ...shapes('vercel_ vcp_ vci_ vca_ vcr_ vck_', 24, ALNUM),
  ...shapes('nfp_ nfc_ nfo_', 36, ALNUM),
  ...shapes('rnd_', 28, ALNUM),
  ...shapes('tk-us-', 40),
  ...shapes('cfut_ cfat_ cfk_', 36),
  // Databases: Supabase, PlanetScale, Neon, Databricks, ClickHouse, Prisma, Turso, Upstash
  ...shapes('sbp_ sbp_oauth_', 32, HEX),
  ...shapes('sb_secret_', 20),
  ...shapes('pscale_tkn_ pscale_pw_ pscale_oauth_', 30, WORD, PARTS),
  ...shapes('napi_', 40, ALNUM),
  ...shapes('npg_', 12, ALNUM),
  ...shapes('dapi dkea', 32, HEX),
  ...shapes('4b1d', 38, ALNUM),
  // Tools of teams: Linear, Notion, Figma, Atlassian, Asana, Airtable, Postman, ReadMe, Shopify, HubSpot, Typeform, Intercom
  ...shapes('lin_api_ lin_oauth_', 32, ALNUM),
  ...shapes('ntn_', 32, ALNUM),
  ...shapes('secret_', 43, ALNUM),
  ...shapes('figd_ figo_ figu_', 32),
  ...shapes('ATATT3', 40, WORD, PARTS),
  ...shapes('ATSTT3', 40, WORD, PARTS),
  ...shapes('PMAK- PMAT-', 26),
  ...shapes('rdme_', 60, LOWER_OR_DIGIT),
  ...shapes('shpat_ shpca_ shppa_ shpss_ shptka_ shpua_', 32, ALNUM),
  ...shapes('pat-na1- pat-eu1-', 32),
  ...shapes('tfp_', 40, WORD, PARTS),
  ...shapes('cal_live_', 24, ALNUM),
  // Observability: New Relic, Grafana, Sentry, Datadog, Honeycomb, Dynatrace, PostHog, Sourcegraph, Sonar
  ...shapes('NRAK- NRII- NRJS- NRAL- NRAA-', 18),
  ...shapes('NRRA-', 32, HEX),
  ...shapes('glc_', 30, ALNUM, PARTS),
  ...shapes('glsa_', 30),
  ...shapes('sntrys_', 30, WORD, PARTS),
  ...shapes('sntryu_ sntrya_', 30),
  ...shapes('ddapp_ ddpat_', 30),
  ...shapes('hcaik_ hcxik_ hcamk_', 40, ALNUM),
  ...shapes('phc_ phx_ phs_', 38, ALNUM),
  ...shapes('sgp_', 36),
  ...shapes('squ_ sqp_ sqa_', 36, HEX),
  // Mail and messages: Mailgun, SendGrid's others, Brevo, Resend, Postmark, Twilio, Mailchimp's transactional
  ...shapes('key-', 32, HEX),
  ...shapes('xkeysib- xsmtpsib-', 60),
  ...shapes('re_', 30),
  ...shapes('SK', 32, HEX),
  ...shapes('md-', 22, ALNUM),
  // Infrastructure: Pulumi, Doppler's others, Infracost, Prefect, Tailscale, Terraform, Octopus, Buildkite, CircleCI, 1Password
  ...shapes('pul-', 36, HEX),
  ...shapes('ico-', 32, ALNUM),
  ...shapes('pnu_ pnb_', 32, ALNUM),
  ...shapes('tskey-', 20),
  ...shapes('API-', 26, UPPER_OR_DIGIT),
  ...shapes('bkua_ bkct_', 36, HEX),
  ...shapes('CCIPAT_ CCIPRJ_', 30),
  ...shapes('ops_eyJ', 40, ALNUM, PARTS),
  ...shapes('A3-', 26),
  ...shapes('nrp_', 30),
  ...shapes('dnkey-', 40),
  ...shapes('fio-u-', 40),
  ...shapes('sm_aat_ sm_pat_ sm_sat_', 16, ALNUM),
  ...shapes('p8e-', 32, ALNUM),
  ...shapes('AGE-SECRET-KEY-1', 40, UPPER_OR_DIGIT),
  ...shapes('EAACEdEose0cBA EAAC EAAM EAAG', 60, ALNUM),
  ...shapes('IGQV', 80),
  ...shapes('ZXlK', 60, ALNUM, PARTS),
  ...shapes('s-s4t2ud- s-s4t2af-', 60, HEX),
  ...shapes('wandb_v1_', 40),
  // Reeve's own
  ...shapes('rv_', 40),
]

/**
 * The same where the prefix ends with a character that ends words: SendGrid, Vault, Google, Doppler, Dynatrace, Dropbox,
 * Terraform, OpenShift, Cloudflare.
 */
export const DOTTED_SHAPES: readonly TokenShape[] = [
  ...shapes('SG.', 16),
  ...shapes('hvs. hvb. hvr.', 20),
  ...shapes('ya29.', 20),
  ...shapes('1//', 38),
  ...shapes('dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. dp.said.', 36),
  ...shapes('dt0c01. dt0s16. dt0s01.', 20),
  ...shapes('sl. sl.u.', 100),
  ...shapes('atlasv1.', 50),
  ...shapes('sha256~', 40),
  ...shapes('amzn.mws.', 32),
  // Origin CA keys of Cloudflare are `v1.0-` and two runs of hexadecimal digits.
  ...shapes('v1.', 100),
]

function shapes(prefixes: string, least: number, of: number = WORD, rest?: number): TokenShape[] {
  return prefixes.split(' ').map((prefix) => ({ prefix, least, of, ...(rest === undefined ? {} : { rest }) }))
}
