"""github.com/flairNLP/flair/pull/3651: a mask cast by float(), scattered into bfloat16."""

import torch


def insert_missing_embeddings(token_embeddings, lengths):
    mask = torch.arange(token_embeddings.size(1))[None] < lengths[:, None]
    counts = torch.zeros(len(lengths), 1, dtype=token_embeddings.dtype)
    where = torch.zeros(mask.shape, dtype=torch.long)
    counts.scatter_add_(1, where, mask.float())
    return token_embeddings.sum(1) / counts


embeddings = torch.randn(2, 4, 3).to(torch.bfloat16)
mean = insert_missing_embeddings(embeddings, torch.tensor([4, 2]))
print(mean)
