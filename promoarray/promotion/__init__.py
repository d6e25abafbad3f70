"""What a policy is made of: rules, plans, scalars, cast rules; registry; the policy in force."""
