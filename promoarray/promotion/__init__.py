"""Parts of a policy: rules, plans, scalars, cast rules; the registry; the policy in force."""
