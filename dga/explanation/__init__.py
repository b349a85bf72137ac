"""What a picture suffered, told by the discriminator from simple inverses. Ours, not the paper's."""
